// What is given stays where it is while only the question about it changes: one table's questions are read once.

// Items that only look alike begin at their top: they are other items.
const contentOf = (item) => (item?.dataset.root ? item.querySelector(".given > .content") : null);

let left = null; // the content that is about to be exchanged, and how far it was scrolled

/** Before the item is exchanged: how far the page and the parts of its content are scrolled. */
export function remember(item) {
  const content = contentOf(item);
  left = content && {
    root: item.dataset.root,
    html: content.innerHTML,
    top: window.scrollY,
    parts: [...content.querySelectorAll("[tabindex]")].map((part) => [part.scrollTop, part.scrollLeft]),
  };
}

/** After the exchange: puts the same content back where it was; false where another content came. */
export function stays(item) {
  const content = contentOf(item);
  if (!left || item.dataset.root !== left.root || content?.innerHTML !== left.html) return false;
  content.querySelectorAll("[tabindex]").forEach((part, index) => {
    [part.scrollTop, part.scrollLeft] = left.parts[index];
  });
  window.scrollTo({ top: left.top, behavior: "instant" });
  return true;
}

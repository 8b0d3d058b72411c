// What scripts say, in the language of the page: pages carry the words (base.html), and English has none to carry.

const words = JSON.parse(document.getElementById("script-words")?.textContent ?? "{}");

const filled = (text, values) => text.replace(/%\((\w+)\)s/g, (_, name) => values[name]);

/** gettext("Row %(n)s added.", { n: 3 }): called as makemessages expects it. */
export function gettext(text, values = {}) {
  return filled(words[text] ?? text, values);
}

/** One sentence for 1 and one for all other numbers; a language may have one for both. */
export function ngettext(one, many, n, values = {}) {
  const forms = words[one] ?? [one, many];
  return filled(forms[Math.min(n === 1 ? 0 : 1, forms.length - 1)], { n, ...values });
}

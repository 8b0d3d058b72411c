// Every page: what parts of the page can do more with scripts than without.

import { acceptDrops } from "./drop.js";
import { offerCopies } from "./tables.js";

offerCopies();
acceptDrops();
// Fragments bring new tables. The event's own element is the fragment.
document.body.addEventListener("htmx:load", (event) => offerCopies(event.detail.elt));

/** What the server serves, as it said in the shell: operations of control, and lists of services of its own. */

const { operations, lists: given } = JSON.parse(document.body.dataset.served);

/** Whether control has an operation. */
export const serves = (operation) => operations.includes(operation);

/** Lists that services registered for the page: `{name, title, path, items, columns}`. */
export const lists = given.map((list) => ({ ...list, name: `list-${list.path.replaceAll("/", "-")}` }));

/** The addresses of the emulated interfaces, by name. */
export const addresses = JSON.parse(document.body.dataset.addresses);

/** The first lines to copy, by what they do. */
export const lines = JSON.parse(document.body.dataset.lines);

/** The origin at which the server says it is. */
export const { origin, version } = document.body.dataset;

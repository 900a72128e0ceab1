/** What was written and not applied yet, by world. It stays after a reload of the tab, where its storage has room. */

const written = new Map();
const name = (world) => `sendbox-draft ${world}`;

export const drafts = {
  get: (world) => written.get(world) ?? sessionStorage.getItem(name(world)),

  set(world, text) {
    written.set(world, text);
    try {
      sessionStorage.setItem(name(world), text);
    } catch {
      sessionStorage.removeItem(name(world)); // it is too long for the storage
    }
  },

  delete(world) {
    written.delete(world);
    sessionStorage.removeItem(name(world));
  },
};

/** Controls that are one stop of Tab together: the arrows to the sides lead from one of them to the next. */

/** The way of an arrow to the side: -1, 1, or undefined for another key. */
export const sideOf = ({ key }) => ({ ArrowLeft: -1, ArrowRight: 1 })[key];

/** Moves the focus from one of some controls to the one beside it. */
export function walk(controls, from, by) {
  controls[controls.indexOf(from) + by]?.focus();
}

/** Makes one of some controls the stop of Tab. */
export function setStop(controls, stop) {
  for (const control of controls) control.setAttribute("tabindex", control === stop ? "0" : "-1");
}

/** True if an arrow would not move the cursor in a field: it is at that end, or all is selected. */
export const leaves = ({ selectionStart: start, selectionEnd: end, value }, by) =>
  (start === end ? end === (by < 0 ? 0 : value.length) : start === 0 && end === value.length);

/**
 * Island: a form with `data-unsaved` shows in its `data-unsaved-count` how many of its fields differ from the saved
 * values. In a refused form, `data-saved` of a field has its saved value.
 */
type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

const isCounted = (form: unknown): form is HTMLFormElement =>
  form instanceof HTMLFormElement && form.dataset["unsaved"] !== undefined;

function count(form: HTMLFormElement): void {
  const changed = [...form.elements].filter(isControl).filter(isChanged);
  const place = form.querySelector("[data-unsaved-count]");
  if (place) place.textContent = words(changed.length);
}

document.addEventListener("input", ({ target }) => {
  const form = target instanceof Element && isControl(target) ? target.form : undefined;
  if (isCounted(form)) count(form);
});

document.addEventListener("reset", ({ target }) => {
  if (isCounted(target)) setTimeout(() => count(target));
});

const countAll = () => [...document.forms].filter(isCounted).forEach(count);
// After going back, the browser shows what was entered.
addEventListener("pageshow", countAll);
document.addEventListener("swapped", countAll);

function isControl(element: Element): element is Control {
  const isField =
    element instanceof HTMLInputElement ||
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement;
  return isField && element.name !== "" && element.type !== "hidden";
}

function isChanged(control: Control): boolean {
  const { saved } = control.dataset;
  if (control instanceof HTMLInputElement && /^(checkbox|radio)$/.test(control.type)) {
    return String(control.checked) !== (saved ?? String(control.defaultChecked));
  }
  return control.value !== (saved ?? initialOf(control));
}

function initialOf(control: Control): string {
  if (!(control instanceof HTMLSelectElement)) return control.defaultValue;
  const chosen = [...control.options].find(({ defaultSelected }) => defaultSelected) ?? control.options[0];
  return chosen?.value ?? "";
}

const words = (count: number): string =>
  count === 0 ? "" : count === 1 ? "1 unsaved change" : `${count} unsaved changes`;

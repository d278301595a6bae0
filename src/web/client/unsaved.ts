/**
 * Island: a form with `data-unsaved` shows in its `data-unsaved-count` how many of its fields differ from the saved
 * values. In a refused form, `data-saved` of a field has its saved value.
 */
type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

for (const form of document.querySelectorAll<HTMLFormElement>("form[data-unsaved]")) {
  const place = form.querySelector<HTMLElement>("[data-unsaved-count]");
  const count = () => {
    const changed = [...form.elements].filter(isControl).filter(isChanged);
    if (place) place.textContent = words(changed.length);
  };
  form.addEventListener("input", count);
  form.addEventListener("reset", () => setTimeout(count));
  // After going back, the browser shows what was entered.
  addEventListener("pageshow", count);
}

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

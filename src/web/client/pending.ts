/**
 * Island: a form with `data-pending` shows on its button that it is being sent, and cannot be sent again until it is
 * answered. Forms that replace parts of the page have their own script.
 */

document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  if (event.defaultPrevented || !(form instanceof HTMLFormElement) || form.dataset["pending"] === undefined) return;
  if (form.dataset["pending"] === "sent") return event.preventDefault();
  form.dataset["pending"] = "sent";
  submitter?.setAttribute("aria-busy", "true");
});

// After going back, the browser shows the page as it was left.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll<HTMLFormElement>("[data-pending=sent]")) {
    form.dataset["pending"] = "";
    // A button of the form may be elsewhere.
    for (const one of form.elements) one.removeAttribute("aria-busy");
  }
});

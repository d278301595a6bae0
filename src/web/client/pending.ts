/**
 * Island: a form with `data-pending` shows on its button that it is being sent, and is not sent a second time meanwhile. Forms
 * that replace parts of the page have their own script.
 */

document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  if (event.defaultPrevented || !(form instanceof HTMLFormElement) || form.dataset["pending"] === undefined) return;
  if (form.dataset["pending"] === "sent") return event.preventDefault();
  form.dataset["pending"] = "sent";
  submitter?.setAttribute("aria-busy", "true");
});

// The browser shows the page again as it was left, after going back.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll<HTMLFormElement>("[data-pending=sent]")) {
    form.dataset["pending"] = "";
    form.querySelector("[aria-busy]")?.removeAttribute("aria-busy");
  }
});

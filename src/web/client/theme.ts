/** Remembers the colours as soon as they are chosen. The style sheet has already applied them. */
export function rememberColours(): void {
  document.querySelector<HTMLFormElement>("form[data-theme]")?.addEventListener("change", (event) => {
    const { target, currentTarget } = event;
    if (!(target instanceof HTMLInputElement) || !(currentTarget instanceof HTMLFormElement)) return;
    const body = new URLSearchParams({ theme: target.value });
    void fetch(currentTarget.action, { method: "POST", body, redirect: "manual", keepalive: true });
  });
}

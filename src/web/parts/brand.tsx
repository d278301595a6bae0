import { flame } from "./icon.tsx";

/** The name of the service, which links to the front page. */
export const Brand = () => (
  <a class="brand" href="/" aria-label="Kiln, front page">
    <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <path class="dome" d="M4 28V15a12 12 0 0 1 24 0v13z" />
      <path class="fire" d={flame} />
    </svg>
    <span>Kiln</span>
  </a>
);

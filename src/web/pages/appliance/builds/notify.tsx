import { Icon } from "../../../parts/icon.tsx";

/** Asks the browser for permission, and explains why. It needs a script, and is hidden without one. */
export const NotifyButton = () => (
  <p class="row notify" data-notify="" hidden>
    <button class="button small" type="button">
      <Icon name="bell" /> Notify me at the end
    </button>
    <span class="hint">Your browser shows a message when the build ends, as long as this page is open in a tab.</span>
  </p>
);

import { shortcuts } from "../shortcuts.ts";

/** The shortcuts and their effects. */
export const ShortcutList = () => (
  <dl class="facts shortcuts">
    {shortcuts.map(({ keys, words }) => (
      <>
        <dt>
          {keys.split(" ").map((key) => (
            <kbd>{key}</kbd>
          ))}
        </dt>
        <dd>{words}</dd>
      </>
    ))}
  </dl>
);

/** The button and the dialog of the shortcuts. Without a script, the button stays hidden and the dialog closed. */
export const Shortcuts = () => (
  <>
    <button class="as-link" type="button" data-opens="shortcuts" hidden>
      Shortcuts
    </button>
    <dialog class="box stack" id="shortcuts" aria-labelledby="shortcuts-title" data-shortcuts="">
      <h2 id="shortcuts-title">Keyboard shortcuts</h2>
      <ShortcutList />
      <label class="switch">
        <input type="checkbox" role="switch" checked /> Use them in this browser
      </label>
      <form method="dialog" class="row">
        <button class="button" autofocus>
          Close
        </button>
      </form>
    </dialog>
  </>
);

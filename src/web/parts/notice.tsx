import type { Child } from "hono/jsx";
import type { Result } from "../result.ts";
import { Form, Hidden } from "./form.tsx";
import { Flame, Icon } from "./icon.tsx";
import type { IconName } from "./icon-names.ts";

export type Tone = "good" | "warn" | "bad" | "busy";

const iconOf = { good: "circle-check", warn: "triangle-alert", bad: "circle-x", info: "info" } as const;

/** The icon for each tone. */
export const ToneIcon = ({ tone, icon }: { tone: Tone | undefined; icon?: IconName | undefined }) =>
  tone === "busy" ? <Flame /> : <Icon name={icon ?? iconOf[tone ?? "info"]} />;

interface NoticeProps {
  tone?: Tone | undefined;
  icon?: IconName;
  id?: string;
  role?: "alert" | "status";
  /** Forms and links that solve the problem. */
  solutions?: Child;
  children: Child;
}

/** A message in a box. A problem comes with a button for each solution. */
export const Notice = ({ tone, icon, id, role, solutions, children }: NoticeProps) => (
  <div class="notice" data-tone={tone} role={role} id={id}>
    <ToneIcon tone={tone} icon={icon} />
    <div>
      <p>{children}</p>
      {solutions && <div class="solutions">{solutions}</div>}
    </div>
  </div>
);

/**
 * The result of the last form. The element exists without a result too, so that a swap finds it. With `isToast`, it is
 * shown at the lower edge of the window, where it moves nothing.
 */
export const ResultNotice = ({ result, isToast }: { result: Result | undefined; isToast?: boolean }) => (
  <div class={isToast ? "wrap result toast" : "wrap result"} id="result" role="status">
    {result && (
      <div class="notice" data-tone={toneOf(result)}>
        <ToneIcon tone={toneOf(result)} />
        <div class="row spread">
          <p>{result.text}</p>
          {result.refused && (
            <ul class="refused">
              {result.refused.map((each) => (
                <li>{each}</li>
              ))}
            </ul>
          )}
          {result.undo && (
            <Form action={result.undo.action} {...(result.undo.swap !== undefined && { swap: result.undo.swap })}>
              <Hidden fields={result.undo.fields} />
              <button class="button small">
                <Icon name="undo-2" /> Undo
              </button>
            </Form>
          )}
        </div>
      </div>
    )}
  </div>
);

const toneOf = ({ refused, isWarning }: Result): Tone => (refused || isWarning ? "warn" : "good");

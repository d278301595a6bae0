import type { Context } from "hono";
import type { Appliance } from "#storage/appliances";
import type { WebEnv } from "../../factory.ts";
import { page } from "../../page.tsx";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { Content } from "../../parts/column.tsx";
import { Form } from "../../parts/form.tsx";
import { counted } from "../../parts/words.ts";
import { applianceAt } from "../appliance/with-appliance.ts";
import { chosenPath } from "./chosen.tsx";

/** Deleting cannot be undone, so this page asks first, and names what would be deleted. The safe answer comes first. */
export async function askBeforeDeleting(c: Context<WebEnv>, chosen: readonly Appliance[]): Promise<Response> {
  const title = `Delete ${what(chosen)}?`;
  const content = (
    <Content look="narrow stack">
      <h1>{title}</h1>
      <Form action={chosenPath} class="panel stack">
        <ul class="stack-s">
          {chosen.map(({ id, name, version }) => (
            <li>
              <input type="hidden" name="appliance" value={String(id)} />
              <a class="breaks" href={applianceAt(id)}>
                {name}
              </a>{" "}
              <span class="sub">{version}</span>
            </li>
          ))}
        </ul>
        <p>Files, keys and builds are deleted with {chosen.length === 1 ? "it" : "them"}. This cannot be undone.</p>
        <div class="row">
          <ButtonLink href="/appliances">Keep {chosen.length === 1 ? "it" : "them"}</ButtonLink>
          <Button look="danger" icon="trash-2" name="act" value="yes, delete">
            Delete {what(chosen)}
          </Button>
        </div>
      </Form>
    </Content>
  );
  return await page(c, content, { title, section: "appliances" });
}

const what = (chosen: readonly Appliance[]): string =>
  chosen.length === 1 && chosen[0] ? chosen[0].name : counted(chosen.length, "appliance");

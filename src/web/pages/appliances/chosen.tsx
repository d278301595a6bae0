import { Button } from "../../parts/button.tsx";
import { Form } from "../../parts/form.tsx";
import { addressOf, type Asked } from "./asked.ts";

export const chosenPath = "/appliances/chosen";
/** The form that the check boxes and buttons of all rows belong to, because forms cannot be nested. */
export const chosenForm = "chosen";

/** The actions for several appliances. */
export const ChosenBar = ({ asked }: { asked: Asked }) => (
  <Form action={chosenPath} id={chosenForm} class="row chosen-bar">
    <a class="small-text" href={addressOf({ ...asked, isAllChosen: !asked.isAllChosen })}>
      {asked.isAllChosen ? "Choose none" : "Choose all of this page"}
    </a>
    <span class="row push">
      <span class="small-text quiet">The chosen ones:</span>
      <Button look="small" icon="hammer" name="act" value="build">
        Build
      </Button>
      <Button look="small danger" icon="trash-2" name="act" value="delete">
        Delete …
      </Button>
    </span>
  </Form>
);

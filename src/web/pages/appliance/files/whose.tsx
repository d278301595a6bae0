import { Field } from "../../../parts/field.tsx";

/** Whose a file is in the image, and who may do what with it. */
export const Whose = ({ owner = "root", group = "root", mode = "644" }) => (
  <div class="fields thirds">
    <Field name="owner" label="Owner" value={owner} />
    <Field name="group" label="Group" value={group} />
    <Field name="permissions" label="Mode" value={mode} />
  </div>
);

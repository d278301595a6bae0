import { Field } from "../../../parts/field.tsx";

/** The owner, group and permissions of a file in the image. */
export const Whose = ({ owner = "root", group = "root", mode = "644" }) => (
  <div class="fields thirds">
    <Field name="owner" label="Owner" value={owner} />
    <Field name="group" label="Group" value={group} />
    <Field name="permissions" label="Mode" value={mode} />
  </div>
);

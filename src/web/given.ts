/** A form that was refused: its values, and a message for each wrong field. */
export interface Given {
  /** The path that the form was sent to, and the id of the form if the page has several with this path. */
  action: string;
  form: string | undefined;
  /** Every value of each field. */
  values: Readonly<Record<string, readonly string[]>>;
  faults: Readonly<Record<string, string>>;
  /** The fault of the form as a whole. */
  fault: string | undefined;
  /** The id of a repository that solves the fault if it is added to the appliance. */
  repository?: number | undefined;
}

export interface FormState {
  id: string | undefined;
  given: Given | undefined;
}

/** The id of a field's element, so that the list of faults can link to it. */
export const fieldId = ({ id }: Pick<FormState, "id">, name: string): string =>
  (id === undefined ? name : `${id}-${name}`).replaceAll(/[^\w-]/g, "-");

/** A form that cannot be done as it is: what was entered, and a sentence for each field at fault. */
export interface Given {
  /** The path that the form was sent to, and the id of the form if the page has several with this path. */
  action: string;
  form: string | undefined;
  /** Every value of each field. */
  values: Readonly<Record<string, readonly string[]>>;
  faults: Readonly<Record<string, string>>;
  /** What is wrong with the whole. */
  fault: string | undefined;
}

export interface FormPlace {
  id: string | undefined;
  given: Given | undefined;
}

/** The id of a field's element, so that the summary of faults can lead there. */
export const fieldId = ({ id }: Pick<FormPlace, "id">, name: string): string =>
  (id === undefined ? name : `${id}-${name}`).replaceAll(/[^\w-]/g, "-");

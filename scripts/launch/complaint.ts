/** Something the operator can mend: its message is a whole sentence and is shown without a stack. */
export class Complaint extends Error {}

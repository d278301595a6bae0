/** An error that the operator can fix. Its message is a whole sentence, and is shown without a stack. */
export class Complaint extends Error {}

/** An error that the operator can fix. Its message is shown without a stack. */
export class Complaint extends Error {}

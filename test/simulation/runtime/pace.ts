/** Replaces pauses, because computing takes no virtual time. */
export const rest = async (): Promise<void> => {};
export const answering = <T>(answer: () => Promise<T>): Promise<T> => answer();

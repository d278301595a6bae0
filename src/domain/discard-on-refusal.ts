import { Refusal } from "#domain/refusal";

/** Runs work on content that is stored without a row. If the work is refused, discards the content. */
export async function discardOnRefusal<T>(discard: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) await discard();
    throw error;
  }
}

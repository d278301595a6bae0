export interface Done {
  done: true;
}

/** The result of an RPC call: its refusal, or that it is done. */
export const done = <T extends object>(result: T): Done | Extract<T, { refused: string }> =>
  isRefused(result) ? result : { done: true };

const isRefused = <T extends object>(result: T): result is Extract<T, { refused: string }> => "refused" in result;

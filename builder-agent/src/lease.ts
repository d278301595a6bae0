import type { TestdriveClaim } from "./contract.ts";

/** What a call about claimed work is made with. */
export interface Lease {
  id: number;
  token: string;
  /** Of the request that started the work; absent: not known. */
  requestId?: string | undefined;
}

/** The one of a testdrive. */
export const leaseOfTestdrive = ({
  testdriveId,
  token,
  requestId,
}: Pick<TestdriveClaim, "testdriveId" | "token" | "requestId">): Lease => ({
  id: testdriveId,
  token,
  requestId,
});

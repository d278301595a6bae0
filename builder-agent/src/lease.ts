import type { TestdriveClaim } from "./contract.ts";

/** The data for a call about claimed work. */
export interface Lease {
  id: number;
  token: string;
  /** The request that started the work. Absent if it is unknown. */
  requestId?: string | undefined;
}

export const leaseOfTestdrive = (claim: Pick<TestdriveClaim, "testdriveId" | "token" | "requestId">): Lease => ({
  id: claim.testdriveId,
  token: claim.token,
  requestId: claim.requestId,
});

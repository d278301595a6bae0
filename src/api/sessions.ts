import { sessions as sessionsDocument } from "#documents/session";
import { success } from "#documents/success";
import { revokeSession } from "#domain/accounts/sessions";
import { v2 } from "#api/operation";
import { listSessions } from "#storage/sessions";
import { call, type CallGroup } from "#api/call";

const ofAccount = { versions: v2, scope: "key", access: "own" } as const;

export const sessions: CallGroup = {
  title: "Sessions",
  about: "Browsers that are signed in to the pages. These calls need the key itself; the API ignores cookies.",
  operations: [
    call("GET /account/sessions", {
      name: "listSessions",
      ...ofAccount,
      summary: "The browsers that are signed in with your account",
      answer: sessionsDocument,
      act: ({ db, account }) => listSessions(db, account.id, new Date()),
    }),
    call("DELETE /account/sessions/{session_id}", {
      name: "revokeSession",
      ...ofAccount,
      ids: { session_id: "unknown_error" },
      summary: "Sign a browser out, immediately",
      answer: success,
      audit: { event: "session.revoked", detail: ({ session_id }) => ({ session_id }) },
      act: ({ db, account }, { session_id }) => revokeSession(db, account.id, session_id),
    }),
  ],
};

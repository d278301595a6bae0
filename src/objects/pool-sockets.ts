import type { Member } from "#domain/agent-pool";

/** Facts about an agent are stored with its socket, which survives when the object is evicted from memory. */

export const memberOn = (socket: WebSocket): Member => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `setMember` writes it
  return (socket.deserializeAttachment() as Member | null) ?? {};
};

export const setMember = (socket: WebSocket, member: Member): void => socket.serializeAttachment(member);

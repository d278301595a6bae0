/** Whether a WebSocket may be closed with this code. RFC 6455 §7.4: 1004, 1005, 1006 and 1015 only describe an end that no side has sent. */
export const isSendableCode = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) || (code >= 3000 && code <= 4999);

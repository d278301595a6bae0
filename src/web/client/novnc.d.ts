/** The part of noVNC that the page uses; its package has documentation instead of types. */
declare module "@novnc/novnc" {
  import type { CreditChannel } from "./credit-channel.ts";

  interface RfbEvents {
    connect: CustomEvent;
    disconnect: CustomEvent<{ clean: boolean }>;
    desktopname: CustomEvent<{ name: string }>;
    securityfailure: CustomEvent<{ status: number; reason?: string }>;
  }

  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, channel: CreditChannel, options?: { shared?: boolean });
    scaleViewport: boolean;
    clipViewport: boolean;
    dragViewport: boolean;
    background: string;
    focusOnClick: boolean;
    disconnect(): void;
    focus(): void;
    sendCtrlAltDel(): void;
    /** Without `down`, the key is pressed and released. */
    sendKey(keysym: number, code: string | null, down?: boolean): void;
    addEventListener<K extends keyof RfbEvents>(type: K, listener: (event: RfbEvents[K]) => void): void;
  }
}

/** The kernel's words if a busy host gave its emulator too little time. The same machine boots if it is started again. */
export const timerPanic = "IO-APIC + timer doesn't work";

/** If a kernel stops more often than this, the host is not the cause. */
export const maxStarts = 5;

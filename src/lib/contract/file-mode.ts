/** The mode's bits in octal without a leading zero, as the original showed them: 644. */
export const shownPermissions = (mode: number): string => mode.toString(8).padStart(3, "0");

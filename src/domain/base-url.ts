/** The service's own URL without a slash at its end. Empty if the operator has set none. */
export const baseUrlOf = ({ BASE_URL: url }: { BASE_URL: string }): string => url.replace(/\/+$/, "");

/** Whole mebibytes, as all sizes of builds are shown. */
export const megabytes = (bytes: number | null): number => Math.round((bytes ?? 0) / 1024 ** 2);

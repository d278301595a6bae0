const grouped = new Intl.NumberFormat("en");

/** "63,440" */
export const number = (value: number): string => grouped.format(value);

/** "1 build", "2 builds". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;

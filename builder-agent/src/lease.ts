/** What a call about claimed work is made with. */
export interface Lease {
  id: number;
  token: string;
}

/** A host that is attacked over HTTP, with a token of the admin scope. */
export interface Target {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly data: string;
}

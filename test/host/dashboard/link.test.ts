import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isLinkInAddress,
  takeLinkFromAddress,
  takeLinkToken,
} from "../../../host/dashboard/link.ts";
import { parsePastedToken } from "../../../host/dashboard/pairing/pasted-token.ts";
import "../../helpers/page/light-dom.ts";

test("the token of a link is taken out of the address, and given once", () => {
  history.replaceState(null, "", "/?display=wall#token=abc");
  const before = isLinkInAddress();

  takeLinkFromAddress();

  assert.equal(`${location.pathname}${location.search}${location.hash}`, "/?display=wall");
  assert.deepEqual([before, isLinkInAddress()], [true, false]);
  assert.deepEqual([takeLinkToken(), takeLinkToken()], ["abc", undefined]);
  history.replaceState(null, "", "/");
});

test("an address without a token stays as it is", () => {
  history.replaceState(null, "", "/#home");

  takeLinkFromAddress();

  assert.equal(location.hash, "#home");
  assert.equal(takeLinkToken(), undefined);
  history.replaceState(null, "", "/");
});

test("a user may paste the token or the whole link", () => {
  const pasted = [" abc\n", "https://mantel.test/#token=abc ", "abc#def"].map(parsePastedToken);

  assert.deepEqual(pasted, ["abc", "abc", "abc#def"]);
});

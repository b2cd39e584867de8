import assert from "node:assert/strict";
import { test } from "node:test";
import { RouteTable } from "../../../host/http/route-table.ts";

const ROWS = [
  ["GET", "/things"],
  ["POST", "/things"],
  ["GET", "/things/:id"],
  ["GET", "/things/search"],
  ["PUT", "/things/search"],
  ["DELETE", "/things/:name"],
  ["GET", "/things/:id/parts/:part"],
  ["GET", "/feeds/:secret.ics"],
  ["GET", "/feeds/:id"],
].map(([method = "", path = ""]) => ({ method, path, value: `${method} ${path}` }));
const table = new RouteTable(ROWS);

test("a path without parameters is found by its exact text", () => {
  assert.deepEqual(table.find("POST", "/things"), { value: "POST /things", params: {} });
  for (const other of ["/things/", "/Things", "/thing", "/things%2F", "", "things", "//things"]) {
    assert.equal(table.find("GET", other), undefined, other);
  }
});

test("parameters are decoded, and never contain a slash of the path", () => {
  const found = table.find("GET", "/things/a%3Ab%2Fc/parts/%C3%A4");

  assert.deepEqual(found?.params, { id: "a:b/c", part: "ä" });
  assert.equal(table.find("GET", "/things/a/b"), undefined);
  assert.equal(table.find("GET", "/things/"), undefined);
});

test("of several rows that match, the first one of the method counts", () => {
  assert.equal(table.find("GET", "/things/search")?.value, "GET /things/:id");
  assert.equal(table.find("PUT", "/things/search")?.value, "PUT /things/search");
  assert.equal(table.find("GET", "/feeds/abc.ics")?.value, "GET /feeds/:secret.ics");
  assert.equal(table.find("GET", "/feeds/abcxics")?.value, "GET /feeds/:id");
});

test("a row for GET is for HEAD too, and other methods are not known", () => {
  assert.equal(table.find("HEAD", "/things/1")?.value, "GET /things/:id");
  assert.equal(table.find("PATCH", "/things/1"), undefined);
  assert.equal(table.find("__proto__", "/things"), undefined);
});

test("the methods of a path are those of all rows that match it", () => {
  assert.deepEqual(table.methodsAt("/things/search").toSorted(), [
    "DELETE",
    "GET",
    "GET",
    "HEAD",
    "HEAD",
    "PUT",
  ]);
  assert.deepEqual(table.methodsAt("/nothing"), []);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Permissions } from "@mantel/plugin-sdk/permissions";
import { networkOf } from "../../../../host/modules/process/network/network-of.ts";

test("a plugin gets the most restricted network for its declared permissions", () => {
  const hosts = ["a.example"];
  assert.equal(networkOf({}), "none");
  assert.equal(networkOf({ childProcesses: true, folders: ["photos"] }), "none");
  assert.equal(networkOf({ hosts }), "proxied");
  assert.equal(networkOf({ hosts: ["config:url"] }), "proxied");
  assert.equal(networkOf({ listen: true }), "open");
  assert.equal(networkOf({ hosts, openNetwork: "always" }), "open");
});

test("an open network for the setup applies only to trials", () => {
  const permissions: Permissions = { hosts: ["a.example"], openNetwork: "setup" };

  assert.equal(networkOf(permissions), "proxied");
  assert.equal(networkOf(permissions, true), "open");
  assert.equal(networkOf({ hosts: ["a.example"] }, true), "proxied");
});

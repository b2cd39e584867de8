import assert from "node:assert/strict";
import { test } from "node:test";
import { basicAuth, isSameHost, isSameSite } from "../../../plugins/calendar/web/credentials.ts";

const trusts = (first: string, url: string) => isSameSite(new URL(first), new URL(url));

test("a password is sent only over HTTPS to hosts of the account's site", () => {
  assert.ok(trusts("https://caldav.icloud.com/", "https://p42-caldav.icloud.com/1/"));
  assert.ok(trusts("https://icloud.com/", "https://caldav.icloud.com/"));
  assert.ok(trusts("http://nas.lan:5232/", "http://nas.lan:5232/ann/"));
  assert.ok(trusts("http://cloud.example.org/", "https://cloud.example.org/dav"));

  assert.ok(!trusts("https://caldav.icloud.com/", "http://p42-caldav.icloud.com/"));
  assert.ok(!trusts("https://caldav.icloud.com/", "https://icloud.com.evil.example/"));
  assert.ok(!trusts("https://example.co.uk/", "https://evil.co.uk/"));
  assert.ok(!trusts("https://example.com/", "https://evil.com/"));
  assert.ok(!trusts("https://192.168.1.5/", "https://192.168.1.6/"));
  assert.ok(!trusts("http://nas.lan:5232/", "http://nas.lan:80/"));
});

test("the password of a feed is sent only to its own server over HTTPS", () => {
  const follows = (first: string, url: string) => isSameHost(new URL(first), new URL(url));

  assert.ok(follows("http://cloud.example.org/a.ics", "https://cloud.example.org/a.ics"));
  assert.ok(follows("http://nas.lan:5232/", "http://nas.lan:5232/b"));
  assert.ok(!follows("https://cloud.example.org/", "http://cloud.example.org/"));
  assert.ok(!follows("https://cloud.example.org/", "https://files.cloud.example.org/"));
  assert.ok(!follows("http://nas.lan:5232/", "http://nas.lan:80/"));
});

test("credentials in the address are used with their escapes decoded", () => {
  const { authorization = "" } = basicAuth({ url: "https://a%40b:p%3Aw%25@example.org/" });

  assert.equal(Buffer.from(authorization.slice(6), "base64").toString(), "a@b:p:w%");
  assert.deepEqual(basicAuth({ url: "https://example.org/" }), {});
});

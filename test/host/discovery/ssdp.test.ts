import assert from "node:assert/strict";
import { test } from "node:test";
import { findDevices, isSearchTarget } from "../../../host/discovery/ssdp.ts";
import { openSearch, signalled, startResponder } from "./responder.ts";

const answer = (...headers: string[]) => `HTTP/1.1 200 OK\r\n${headers.join("\r\n")}\r\n\r\n`;

test("devices are found by a search target, each once", async (t) => {
  const done = signalled();
  const questions: string[] = [];
  const tv = [
    "CACHE-CONTROL: max-age=1800",
    "Location: http://192.168.1.9:8080/desc.xml",
    "SERVER: Linux UPnP/1.0",
    "ST: ssdp:all",
    "USN: uuid:1::upnp:rootdevice",
  ];
  const target = await startResponder(t, (question) => {
    questions.push(question.toString());
    if (questions.length === 2) done.resolve();
    return [
      answer(...tv),
      answer(...tv),
      answer("LOCATION: javascript:alert(1)", "USN: uuid:2"),
      "NOTIFY * HTTP/1.1\r\nLOCATION: http://192.168.1.10/\r\n\r\n",
      "HTTP/1.1 404 Not Found\r\n\r\n",
      "",
    ];
  });
  const { asked, end } = openSearch("ssdp:all", target);

  const found = findDevices(asked);
  await done.promise;
  await end();

  assert.deepEqual(await found, [
    {
      address: "127.0.0.1",
      location: "http://192.168.1.9:8080/desc.xml",
      usn: "uuid:1::upnp:rootdevice",
      target: "ssdp:all",
      server: "Linux UPnP/1.0",
    },
    { address: "127.0.0.1", location: "", usn: "uuid:2", target: "", server: "" },
  ]);
  const [head = "", ...lines] = (questions[0] ?? "").split("\r\n");
  assert.equal(head, "M-SEARCH * HTTP/1.1");
  assert.ok(lines.includes("ST: ssdp:all") && lines.includes('MAN: "ssdp:discover"'));
});

test("a search target has no spaces and no line breaks", () => {
  assert.equal(isSearchTarget("urn:schemas-upnp-org:device:MediaRenderer:1"), true);
  for (const target of ["", "a b", "a\r\nHOST: x", "x".repeat(201)])
    assert.equal(isSearchTarget(target), false);
});

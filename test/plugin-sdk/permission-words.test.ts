import assert from "node:assert/strict";
import { test } from "node:test";
import { isPath, kindOfHost, permissionWords as words } from "../../plugin-sdk/permission-words.ts";

for (const [host, kind, name, sentence] of [
  ["*", "all", "*", "connect to every host"],
  ["network:local", "local", "network:local", "connect to every device of the home network"],
  ["*.example.org", "below", "example.org", "connect to every host below example.org"],
  ["config:url", "option", "url", "connect to the hosts in its option url"],
  [
    ...["service:mqtt.broker", "service", "mqtt.broker"],
    "connect to the hosts that the service mqtt.broker names",
  ],
  [
    ...["/run/docker.sock", "socket", "/run/docker.sock"],
    "connect to the program behind the socket /run/docker.sock",
  ],
  ["example.org", "host", "example.org", "connect to example.org"],
  ["127.0.0.1", "host", "127.0.0.1", "connect to 127.0.0.1"],
] as const) {
  test(`the host ${host} is put into words: ${sentence}`, () => {
    assert.deepEqual(kindOfHost(host), [kind, name]);
    assert.equal(words.hosts(host), sentence);
  });
}

for (const [sentence, expected] of [
  [words.openNetwork("setup"), /open network, which leads to every host, while it is set up or/],
  [words.openNetwork("always"), /open network, which leads to every host$/],
  [words.folders("photos"), /^read and write the folder photos of the home's data$/],
  [words.folders("/sys"), /^read \/sys$/],
  [words.homeReads("*"), /^read every device and scene of the home$/],
  [words.homeReads("light:*"), /^read every device of the kind light$/],
  [words.homeReads("scene:*"), /^read every scene$/],
  [words.homeReads("hue:light:3"), /^read the device hue:light:3$/],
  [words.homeReads("host:scene:evening"), /^read the scene host:scene:evening$/],
  [words.homeReads("calendar"), /^read the calendars$/],
  [words.homeReads("location"), /^know where the home is$/],
  [words.homeControls("*"), /^control every device and activate every scene of the home$/],
  [words.homeControls("lock:*"), /^control every device of the kind lock$/],
  [words.homeControls("scene:*"), /^activate every scene$/],
  [words.homeControls("hue:light:3"), /^control the device hue:light:3$/],
  [words.homeControls("host:scene:evening"), /^activate the scene host:scene:evening$/],
  [words.provides("weather"), /^provide weather to the home$/],
  [words.paths("/tides"), /^answer requests to \/tides of the API$/],
  [
    words.paths("/tides/*"),
    /^answer requests to \/tides of the API, and below, with its own code$/,
  ],
  [words.uses("mqtt.broker"), /^use the service mqtt\.broker$/],
  [words.widgetSees("scenes"), /^show its widget scenes$/],
  [words.widgetCommands("scenes"), /^let its widget command scenes$/],
  [words.widgetReads("calendar"), /^let its widget read this: calendar$/],
  [words.memoryMiB("500"), /^use up to 500 MiB of memory$/],
  [words.storageMiB("500"), /^keep up to 500 MiB on the disk$/],
  [words.cpuPercent("80"), /^use up to 80 % of a processor$/],
  [words.server, /^run code of its own/],
  [words.listen, /^listen on the network$/],
] as const) {
  test(`a permission says what it allows: ${sentence}`, () => assert.match(sentence, expected));
}

for (const name of ["childProcesses", "workerThreads", "nativeAddons", "sqlite"] as const) {
  test(`the words of ${name} warn that it has the rights of the user who runs Mantel`, () => {
    assert.match(words[name], /the user (may )?who runs Mantel$/);
  });
}

test("a path begins with a slash", () => {
  assert.deepEqual([isPath("/a"), isPath("a/b")], [true, false]);
});

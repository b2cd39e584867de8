// The test kit for widgets, in a page without a browser. Import it before the widget. For a real browser see
// `chromium.ts`.

import "./page.ts";

export { provide } from "../service.ts";
export type { FakeDevice } from "../testing-device.ts";
export { mountWidget, type TestedWidget } from "./mount.ts";
export type { RecordedCommand, RecordedRoomCommand, WidgetTestOptions } from "./fake-context.ts";

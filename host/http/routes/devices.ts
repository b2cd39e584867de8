import { Readable } from "node:stream";
import { Cause } from "@mantel/plugin-sdk/cause";
import { CommandBody, Device, DeviceKind } from "@mantel/plugin-sdk/device";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { CheckedImage } from "@mantel/plugin-sdk/sent-image";
import { type Static, Type } from "typebox";
import { BridgeView } from "../../devices/bridge.ts";
import { entityTag } from "../../documents/if-match.ts";
import { check } from "../../validate.ts";
import { isAuthenticated } from "../authenticate.ts";
import { causeOf } from "../cause-of.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { matchesEtag, sendRevision } from "../etag.ts";
import { type Context, jsonAnswer, type Route, route } from "../route.ts";
import { sendJson } from "../send.ts";

export const DeviceParams = Type.Object({
  id: Type.String({
    pattern: "^[a-z][a-z0-9]{0,30}:[a-z][a-z-]{0,30}:[1-9]\\d{0,14}$",
    description: "the id of a device, such as hue:light:3",
  }),
});
const Query = Type.Object({
  bridge: Type.Optional(Type.String()),
  kind: Type.Optional(DeviceKind),
  room: Type.Optional(Type.String()),
});
const DeviceList = Type.Object({
  devices: Type.Array(Device),
  bridges: Type.Array(BridgeView),
  revision: Type.Integer(),
  generatedAt: Type.String({ format: "date-time" }),
});
const DeviceAnswer = Type.Object({
  ...Device.properties,
  changedBy: Type.Union([Cause, Type.Null()], {
    description:
      "who or what caused the last change of the state; null before the first one since the host started",
  }),
});
const Accepted = Type.Object({
  commandId: Type.String(),
  deviceId: Type.String(),
  status: Type.Literal("accepted"),
  cause: Cause,
});
const Outcome = Type.Object({
  commandId: Type.String(),
  deviceId: Type.String(),
  /** `superseded`: later commands have set all fields of this one. */
  status: Type.Enum(["applied", "superseded"]),
  /** The command sent to the bridge, including merged commands, without codes; numbers as the device reports them. */
  applied: CommandBody,
  device: Device,
  cause: Cause,
});

/** `/smart-home/devices`: reads come from the host's registry, commands go to the owning bridge. */
export function deviceRoutes(parts: HttpDependencies): Route[] {
  return [
    ...readingRoutes(parts),
    imageRoute(parts),
    framesRoute(parts),
    videoRoute(parts),
    commandRoute(parts),
  ];
}

function readingRoutes({ devices }: HttpDependencies): Route[] {
  const sendList = async (ctx: Context, query: Static<typeof Query>) => {
    const { revision, body } = await devices.snapshot(query);
    sendRevision(ctx, revision, () => body);
  };
  return [
    route({
      method: "GET",
      path: "/smart-home/devices",
      operationId: "listDevices",
      scope: "read",
      tag: "Devices",
      summary: "List devices and their bridges",
      query: Query,
      headers: ["If-None-Match"],
      answers: jsonAnswer("All matching devices", DeviceList),
      errors: ["invalid"],
      handle(ctx, { query }) {
        const isCurrent = matchesEtag(ctx, entityTag(devices.revision));
        return isCurrent ? sendRevision(ctx, devices.revision, () => "") : sendList(ctx, query);
      },
    }),
    route({
      method: "GET",
      path: "/smart-home/devices/:id",
      operationId: "getDevice",
      scope: "read",
      tag: "Devices",
      summary: "Read one device",
      params: DeviceParams,
      answers: jsonAnswer("The device", DeviceAnswer),
      errors: ["device_unknown"],
      handle: (ctx, { params }) => sendJson(ctx, devices.getJson(params.id)),
    }),
  ];
}

function imageRoute({ images }: HttpDependencies): Route {
  return route({
    method: "GET",
    path: "/smart-home/devices/:id/image",
    operationId: "getDeviceImage",
    scope: "read",
    tag: "Devices",
    summary: "Read the picture of a device that has one, such as a camera",
    params: DeviceParams,
    headers: ["If-None-Match"],
    answers: {
      200: { description: "The picture, a JPEG, PNG or WebP of at most 4 MiB", type: "image/*" },
    },
    errors: [
      "device_unknown",
      "not_found",
      "bridge_rate_limited",
      "bridge_down",
      "outcome_unknown",
      "deadline_passed",
    ],
    async handle(ctx, { params }) {
      const { type, bytes, etag } = await images.read(params.id);
      ctx.set("ETag", etag);
      ctx.set("Cache-Control", "private, no-cache");
      if (matchesEtag(ctx, etag)) {
        ctx.status = 304;
        return;
      }
      ctx.type = type;
      ctx.body = bytes;
    },
  });
}

const FRAME_BOUNDARY = "frame";

function framesRoute({ livePictures, tokens }: HttpDependencies): Route {
  return route({
    method: "GET",
    path: "/smart-home/devices/:id/frames",
    operationId: "watchDevice",
    scope: "read",
    tag: "Devices",
    summary: "Watch the live picture of a device that has frames in live, as motion JPEG",
    params: DeviceParams,
    answers: {
      200: {
        description:
          "An endless multipart stream with the pictures as they come, at most 15 a second: JPEG, PNG or WebP, each of at most 4 MiB",
        type: "multipart/x-mixed-replace",
      },
    },
    errors: ["device_unknown", "not_found", "bridge_down", "outcome_unknown", "deadline_passed"],
    async handle(ctx, { params, principal }) {
      const gone = new AbortController();
      ctx.res.once("close", () => gone.abort());
      if (ctx.res.closed) gone.abort();
      const frames = await livePictures.watch(params.id, {
        owner: principal.sub,
        gone: gone.signal,
        permitted: () => isAuthenticated(ctx, tokens, principal),
      });
      ctx.status = 200;
      ctx.set("Content-Type", `multipart/x-mixed-replace; boundary=${FRAME_BOUNDARY}`);
      ctx.set("X-Accel-Buffering", "no"); // nginx would buffer pictures
      ctx.body = Readable.from(partsOf(frames), { highWaterMark: 1 });
    },
  });
}

/** Each picture as a part of a multipart body (RFC 2046, 5.1). */
async function* partsOf(frames: AsyncIterable<CheckedImage>): AsyncGenerator<Buffer> {
  for await (const { type, bytes } of frames) {
    const head = `--${FRAME_BOUNDARY}\r\nContent-Type: ${type}\r\nContent-Length: ${bytes.length}\r\n\r\n`;
    yield Buffer.concat([Buffer.from(head), bytes, Buffer.from("\r\n")]);
  }
}

/** A session description with the candidates of several networks has about 10,000 characters. */
const MOST_SDP = 50_000;
const SessionDescription = Type.String({ minLength: 1, maxLength: MOST_SDP });
const VideoOffer = Type.Object({ offer: SessionDescription }, { additionalProperties: false });
const VideoAnswer = Type.Object({ answer: SessionDescription });

function videoRoute({ livePictures }: HttpDependencies): Route {
  return route({
    method: "POST",
    path: "/smart-home/devices/:id/video",
    operationId: "connectVideo",
    scope: "read",
    tag: "Devices",
    summary:
      "Connect to the video of a device that has video in live: send the offer of a WebRTC connection with its candidates (SDP, RFC 8866), and get the answer",
    params: DeviceParams,
    body: { schema: VideoOffer },
    answers: jsonAnswer("The answer to the offer", VideoAnswer),
    errors: [
      "device_unknown",
      "not_found",
      "invalid",
      "bridge_down",
      "outcome_unknown",
      "deadline_passed",
    ],
    async handle(_, { params, body }) {
      const answer = await livePictures.answer(
        params.id,
        check(VideoOffer, body, "the offer").offer,
      );
      if (answer.length <= MOST_SDP) return { answer };
      throw new MantelError("not_found", `the answer of ${params.id} is too long`);
    },
  });
}

function commandRoute({ commands }: HttpDependencies): Route {
  return route({
    method: "POST",
    path: "/smart-home/devices/:id/command",
    operationId: "sendCommand",
    scope: "control",
    tag: "Devices",
    summary: "Send a command to a device",
    params: DeviceParams,
    headers: ["Prefer"],
    body: { schema: CommandBody },
    answers: {
      200: { description: "The bridge has confirmed the command", schema: Outcome },
      202: {
        description: "Queued, as requested by `Prefer: respond-async`",
        schema: Accepted,
        headers: { "Preference-Applied": "`respond-async`" },
      },
    },
    errors: [
      "device_unknown",
      "invalid",
      "bridge_rate_limited",
      "bridge_down",
      "outcome_unknown",
      "deadline_passed",
    ],
    handle(ctx, { params, body, principal }) {
      const cause = causeOf(principal);
      const { commandId, done } = commands.send(params.id, body, { cause });
      if (!prefersAsync(ctx)) return done;
      done.catch(() => undefined); // Nobody waits for it; the device's state shows the result.
      ctx.status = 202;
      ctx.set("Preference-Applied", "respond-async");
      return { commandId, deviceId: params.id, status: "accepted", cause };
    },
  });
}

/** RFC 7240, 4.1. */
function prefersAsync(ctx: Context): boolean {
  return ctx
    .get("Prefer")
    .split(",")
    .some((preference) => preference.trim().toLowerCase() === "respond-async");
}

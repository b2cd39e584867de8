import type { Api } from "../api.ts";

/** The candidates of a home network are known at once; others are not needed. */
const CANDIDATES_MS = 1_000;
/** A camera sends a key frame every few seconds. */
const FIRST_PICTURE_MS = 10_000;
const OFFER_MS = 20_000;

interface Watched {
  readonly signal: AbortSignal;
  /** Muted, so that it may play without a touch. */
  readonly video: HTMLVideoElement;
  /** Called when the first picture is shown. */
  readonly begun: () => void;
}

/**
 * Shows the video of a device, which comes by WebRTC from the camera's server, until `signal` aborts.
 * @throws ApiError; an error if no picture comes, or the connection ends
 */
export async function watchVideo(
  api: Pick<Api, "post">,
  id: string,
  { signal, video, begun }: Watched,
): Promise<void> {
  const connection = new RTCPeerConnection();
  const over = new AbortController();
  const ended = endOf(connection, signal, over.signal);
  try {
    connection.addEventListener("track", ({ track }) => {
      video.srcObject = new MediaStream([track]);
    });
    connection.addTransceiver("video", { direction: "recvonly" });
    await connection.setLocalDescription();
    await Promise.race([candidatesOf(connection), ended]);
    const offer = connection.localDescription?.sdp;
    const path = `/smart-home/devices/${encodeURIComponent(id)}/video` as const;
    const { answer } = await Promise.race([api.post(path, { offer }, OFFER_MS), ended]);
    await connection.setRemoteDescription({ type: "answer", sdp: answer });
    await Promise.race([firstPicture(video), ended]);
    begun();
    await ended;
  } finally {
    over.abort();
    connection.close();
    video.srcObject = null;
  }
}

/** Rejects when the connection has ended, or `signal` aborts. Stops listening when `over` aborts. */
function endOf(
  connection: RTCPeerConnection,
  signal: AbortSignal,
  over: AbortSignal,
): Promise<never> {
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { signal: over });
    connection.addEventListener("connectionstatechange", () => {
      const { connectionState: state } = connection;
      // One that is disconnected may come back, and fails otherwise.
      if (state === "failed" || state === "closed") reject(new Error("the video has ended"));
    });
  });
  ended.catch(() => undefined); // another step may fail first
  return ended;
}

function candidatesOf(connection: RTCPeerConnection): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, CANDIDATES_MS);
    const check = (): void => {
      if (connection.iceGatheringState === "complete") resolve();
    };
    connection.addEventListener("icegatheringstatechange", check);
    check();
  });
}

function firstPicture(video: HTMLVideoElement): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = new Error("no picture has come");
    const timer = setTimeout(() => reject(late), FIRST_PICTURE_MS);
    video.addEventListener(
      "playing",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

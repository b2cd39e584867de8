/** Three tones: their pitch in Hz, and when they begin, in seconds. */
const TONES = [
  { pitch: 880, at: 0 },
  { pitch: 1_109, at: 0.2 },
  { pitch: 1_319, at: 0.4 },
] as const;
const TONE_SECONDS = 0.35;
const LOUDNESS = 0.25;

let audio: AudioContext | undefined;

/** Prepares the sound. Call it while a press is handled: browsers allow sound only after one. */
export function prepareChime(): void {
  if (!("AudioContext" in globalThis)) return;
  audio ??= new AudioContext();
  void audio.resume();
}

/** Plays the chime once. Silent where the browser does not allow it. */
export function playChime(): void {
  prepareChime();
  if (audio?.state !== "running") return;
  for (const { pitch, at } of TONES) {
    const tone = audio.createOscillator();
    const loudness = audio.createGain();
    const startsAt = audio.currentTime + at;
    tone.frequency.value = pitch;
    loudness.gain.setValueAtTime(LOUDNESS, startsAt);
    loudness.gain.exponentialRampToValueAtTime(0.001, startsAt + TONE_SECONDS);
    tone.connect(loudness).connect(audio.destination);
    tone.start(startsAt);
    tone.stop(startsAt + TONE_SECONDS);
  }
}

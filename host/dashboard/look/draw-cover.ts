/** Draws a picture so that it fills the canvas; what is wider or higher is cut off at both sides. */
export function drawCover(canvas: HTMLCanvasElement, picture: ImageBitmap): void {
  const { width, height } = canvas;
  const scale = Math.max(width / picture.width, height / picture.height);
  const [wide, high] = [picture.width * scale, picture.height * scale];
  canvas.getContext("2d")?.drawImage(picture, (width - wide) / 2, (height - high) / 2, wide, high);
}

/** Files that were dropped into the page or chosen in it, copied to samekind piece by piece. */

import { ApiError, server } from "../../api/client";

/** A file with the folders that it was in. */
export interface Dropped {
  file: File;
  path: string;
}

export interface Upload {
  /** Where the files are now. */
  path: string;
  copied: number;
  /** Files of other kinds, or that could not be copied. */
  left: number;
}

const AT_ONCE = 3;

/** Files in what was dropped, at any depth. Must be called during the event. */
export async function droppedFiles(data: DataTransfer): Promise<Dropped[]> {
  const entries = [...data.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  if (entries.every((entry) => entry === null)) return [...data.files].map((file) => ({ file, path: file.name }));
  const found: Dropped[] = [];
  for (const entry of entries) if (entry !== null) await walk(entry, "", found);
  return found;
}

/** Files that were chosen in a dialog; of a folder with their paths. */
export function chosenFiles(files: FileList | null): Dropped[] {
  return [...(files ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
}

async function walk(entry: FileSystemEntry, above: string, found: Dropped[]): Promise<void> {
  if (entry.name.startsWith(".")) return;
  const path = above + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File | null>((resolve) =>
      (entry as FileSystemFileEntry).file(resolve, () => resolve(null)),
    );
    if (file !== null) found.push({ file, path });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A reader returns at most a hundred entries at a time.
    const some = await new Promise<FileSystemEntry[]>((resolve) => reader.readEntries(resolve, () => resolve([])));
    if (some.length === 0) return;
    for (const inside of some) await walk(inside, `${path}/`, found);
  }
}

/** A name for the pile: the folder that all files are in, or that of the first file. */
export function nameOf(files: readonly Dropped[]): string {
  const tops = new Set(files.map(({ path }) => (path.includes("/") ? path.split("/")[0] : "")));
  const [top] = tops;
  if (tops.size === 1 && top) return top;
  return files.length === 1 ? (files[0]?.file.name.replace(/\.[^.]*$/, "") ?? "Dropped files") : "Dropped files";
}

/** Whether a file can be part of a pile, by its suffix. */
export function isReadable(name: string, suffixes: readonly string[]): boolean {
  const lower = name.toLowerCase();
  return suffixes.some((suffix) => lower.endsWith(suffix));
}

/** Copy files, and report how many are done. A file that cannot be copied does not stop the others. */
export async function upload(
  files: readonly Dropped[],
  suffixes: readonly string[],
  report: (done: number, total: number) => void,
): Promise<Upload> {
  const wanted = files.filter(({ path }) => isReadable(path, suffixes));
  if (wanted.length === 0) {
    throw new ApiError(422, "None of these files can be read.", "Drop pictures, texts or a table, or a folder with some.");
  }
  const size = wanted.reduce((sum, { file }) => sum + file.size, 0);
  const { id, piece } = await server.post("/api/uploads", { body: { name: nameOf(wanted).slice(0, 200), size } });
  const waiting = [...wanted];
  let done = 0;
  let failed = 0;
  let stopped: ApiError | null = null;
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined && stopped === null; next = waiting.shift()) {
      try {
        await send(id, next, piece);
      } catch (problem) {
        const error = ApiError.from(problem);
        // One file may be unreadable or refused; a full disk or a server that is gone stops all.
        if (error.status === 0 || error.status >= 500) stopped = error;
        else failed += 1;
      }
      report((done += 1), wanted.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (stopped !== null) throw stopped;
  const { path } = await server.post("/api/uploads/{id}/finish", { path: { id } });
  return { path, copied: wanted.length - failed, left: files.length - wanted.length + failed };
}

async function send(id: string, { file, path }: Dropped, piece: number): Promise<void> {
  let offset = 0;
  do {
    const end = Math.min(file.size, offset + piece);
    const bytes = await file
      .slice(offset, end)
      .arrayBuffer()
      .catch(() => {
        throw new ApiError(422, `${path} cannot be read.`);
      });
    const query = { name: path, offset, last: end >= file.size };
    await server.putBytes("/api/uploads/{id}", { path: { id }, query, bytes });
    offset = end;
  } while (offset < file.size);
}

// Entry of a thread that helps with merging: works in the memory of the merge engine until all merges are learned.
import { helpMerging, type MergeHelp } from "./merge/merge-helpers.ts";

declare const self: { onmessage: (event: MessageEvent<MergeHelp>) => void };

self.onmessage = ({ data }) => helpMerging(data);

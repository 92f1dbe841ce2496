// Files that are installed with the executable: the manual page, and completions for shells.
import { completionScript } from "../../src/main/completions-command.ts";
import { type ManPageOptions, manPage } from "./man-page.ts";

export type ShellFile = {
  /** The path in an archive. */
  readonly path: string;
  /** The path at which systems look for it, below a prefix such as /usr/local. */
  readonly installedPath: string;
  readonly text: string;
};

export const shellFiles = (options: ManPageOptions): ShellFile[] => [
  { path: "bpe.1", installedPath: "share/man/man1/bpe.1", text: manPage(options) },
  {
    path: "completions/bpe.bash",
    installedPath: "share/bash-completion/completions/bpe",
    text: completionScript("bash"),
  },
  {
    path: "completions/_bpe",
    installedPath: "share/zsh/site-functions/_bpe",
    text: completionScript("zsh"),
  },
  {
    path: "completions/bpe.fish",
    installedPath: "share/fish/vendor_completions.d/bpe.fish",
    text: completionScript("fish"),
  },
];

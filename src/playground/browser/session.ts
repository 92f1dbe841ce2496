import { jobs, type StageProgress } from "#jobs";
import type { unpacked } from "#pages";
import type { WorkerThread } from "#runtime";
import { vocabularyOfLearned } from "../learned.ts";
import type { Corpus, PlaygroundJob, Settings, TrainAnswer } from "../playground-job.ts";
import { startScript } from "./page-parts.ts";

export type Thread = jobs.Thread<PlaygroundJob, StageProgress>;

/** The result of a training, its worker, and its settings. */
export type Trained = TrainAnswer & {
  readonly vocabulary: unpacked.Vocabulary;
  readonly thread: Thread;
  readonly corpus: Corpus;
  readonly settings: Settings;
};

const startThread = (hear: (progress: StageProgress) => void): Thread =>
  new jobs.Thread("the worker", startScript() as unknown as WorkerThread, hear);

/**
 * The training that the page shows. Each training has its own worker. If a training is cancelled, the page keeps the
 * previous result.
 */
export class Session {
  trained: Trained | undefined;
  private running: Thread | undefined;
  private readonly listeners: ((trained: Trained) => void | Promise<void>)[] = [];

  /** Calls `take` with each finished training that no later one has replaced. */
  onTrained(take: (trained: Trained) => void | Promise<void>): void {
    this.listeners.push(take);
  }

  async train(corpus: Corpus, settings: Settings, hear: (progress: StageProgress) => void): Promise<void> {
    this.cancel();
    const thread = startThread(hear);
    this.running = thread;
    try {
      const answer = await thread.ask("train", { corpus, settings });
      this.trained?.thread.end();
      const vocabulary = vocabularyOfLearned(answer.learned);
      this.trained = { ...answer, vocabulary, thread, corpus, settings };
      this.running = undefined;
      await this.tellAll(this.trained);
    } catch (error) {
      thread.end();
      throw error;
    } finally {
      if (this.running === thread) this.running = undefined;
    }
  }

  /** Runs the listeners one after the other, each in a task of its own, so that the page is painted in between. */
  private async tellAll(trained: Trained): Promise<void> {
    for (const take of this.listeners) {
      if (trained !== this.trained) return;
      await take(trained);
      await new Promise((go) => setTimeout(go));
    }
  }

  /** Cancels a running training. The promise of its `train` never settles. */
  cancel(): void {
    this.running?.end();
    this.running = undefined;
  }

  /** Asks a temporary worker, which ends after its answer. */
  async alone<Answer>(ask: (thread: Thread) => Promise<Answer>): Promise<Answer> {
    const thread = startThread(() => {});
    try {
      return await ask(thread);
    } finally {
      thread.end();
    }
  }
}

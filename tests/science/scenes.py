# SPDX-License-Identifier: Apache-2.0
"""The scenes of the scientific tests: `kastor simulate sky` with fixed seeds, and how Kastor finds their sources."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Scene:
    name: str
    sky: str                # options of `kastor simulate sky`
    find: str = ""          # options of `kastor find` beside the preset
    evaluate: str = ""      # options of `kastor evaluate`
    optical: bool = False
    peers: bool = False     # whether the other finders are run on it as well

    @property
    def preset(self):
        return "sextractor" if self.optical else "radio"

    @property
    def simulate(self):
        noise = "" if self.optical or "--noise " in self.sky else "--noise 1 --beam 4 "
        return f"simulate sky {noise}{self.sky} -o {self.name}.fits"

    @property
    def search(self):
        return " ".join(f"find {self.name}.fits --preset {self.preset} {self.find} -o {self.name}.csv".split())

    @property
    def fit(self):
        """The words of `kastor find` before those of the components."""
        return f"find {self.name}.fits --preset radio {self.find}".rstrip()

    def judge(self, catalogue=None):
        """The command that evaluates a catalogue, by default Kastor's."""
        words = f"evaluate {self.name}.fits {catalogue or self.name + '.csv'} --truth {self.name}_truth.csv {self.evaluate} --json"
        return " ".join(words.split())


def points(kind, seed):
    return Scene(f"points-{kind}", f"--size 3072 --noise-kind {kind} --seed {seed} "
                 "--add point:count=3600,snr=3..50,place=grid", peers=True)


def empty(kind, seed, size=4096):
    """At a seed of 4, so that there are some hundred false detections to count."""
    return Scene(f"empty-{kind}", f"--size {size} --noise-kind {kind} --seed {seed} --sources-per-mpx 0", "--seed 4 --flood 3",
                 evaluate="--seed 4")


NOISES = "beam", "condon", "white"

SCENES = {scene.name: scene for scene in [
    *(points(kind, 1) for kind in NOISES),
    *(empty(kind, 2) for kind in NOISES),
    # The standard thresholds on noise alone, for all finders.
    Scene("noise", "--size 4096 --noise-kind beam --seed 2 --sources-per-mpx 0", peers=True),
    Scene("extended", "--size 2048 --noise-kind beam --seed 4 --add gaussian:count=400,snr=10..50,size=6..16,axis-ratio=0.6,place=grid",
          peers=True),
    Scene("disks", "--size 2048 --noise-kind beam --seed 5 --add disk:count=100,snr=10..50,size=16..40,place=grid", peers=True),
    # Eight cells of the mesh (80 pixels) from end to end.
    Scene("lobes", "--size 4096 --noise-kind beam --seed 6 --add lobes:count=9,snr=30..100,size=640,place=grid",
          evaluate="--pool 10,1000"),
    Scene("pairs", "--size 2048 --noise-kind beam --seed 7 --add point:count=400,snr=10..50,separation=14,pair-ratio=0.5,place=grid",
          peers=True),
    # Two beams apart: one island above the threshold, unless it is deblended.
    Scene("blends", "--size 2048 --noise-kind beam --seed 16 --add point:count=400,snr=10..50,separation=8,pair-ratio=0.5,place=grid",
          peers=True),
    Scene("gradients", "--size 2048 --noise-kind beam --seed 8 --level 10 --level-gradient 0.01,0.005 --noise-gradient 0.6 "
          "--add point:count=1600,snr=3..50,place=grid"),
    Scene("primary-beam", "--size 2048 --noise-kind beam --seed 9 --primary-beam 1400 --primary-beam-corrected "
          "--add point:count=1600,snr=3..50,place=grid"),
    Scene("bowls", "--size 2048 --noise-kind beam --seed 10 --bowls 1 --bowl-size 150 "
          "--add gaussian:count=25,snr=20..50,size=30,place=grid --add point:count=400,snr=3..50"),
    Scene("border", "--size 2048 --noise-kind beam --seed 11 --unobserved border --add point:count=900,snr=3..50,place=grid"),
    Scene("filled", "--size 2048 --noise-kind beam --seed 11 --unobserved border --unobserved-value 0 "
          "--add point:count=900,snr=3..50,place=grid"),
    Scene("circle", "--size 2048 --noise-kind beam --seed 12 --unobserved circle --unobserved-value -1 "
          "--add point:count=900,snr=3..50,place=grid"),
    Scene("stars", "--size 3072 --gain 2 --level 100 --beam 3 --seed 13 --add star:count=3600,snr=3..50,place=grid",
          find="--gain 2", optical=True, peers=True),
    Scene("photons", "--size 2048 --gain 2 --level 100 --beam 3 --seed 14 --sources-per-mpx 0", find="--gain 2", optical=True, peers=True),
    Scene("crowd", "--size 2048 --gain 2 --level 100 --beam 3 --seed 15 --add star:count=20000,snr=5..200", find="--gain 2", optical=True,
          peers=True),
]}


def fitted(name, add, seed, side=30, cell=40):
    """Sources or pairs on a grid, for fits of Gaussians with noise and background known."""
    return Scene(f"fit-{name}", f"--size {side * cell} --noise-kind beam --seed {seed} --add {add},count={side * side},place=grid",
                 find="--background 0 --rms 1 --noise beam")


def optical(name, add, seed, **options):
    """An image of a camera, for the parts of islands."""
    return Scene(f"fit-{name}", f"--size 1024 --gain 2 --level 100 --beam 3 --seed {seed} --add {add}", find="--gain 2", optical=True, **options)


COMPONENT_SCENES = {scene.name: scene for scene in [
    fitted("resolved", "gaussian:snr=199,size=8,axis-ratio=0.6", 31, side=20, cell=48),
    fitted("faint", "point:snr=6", 32),
    fitted("points", "point:snr=10", 33),
    fitted("bright", "point:snr=30", 34),
    fitted("wide", "gaussian:snr=15,size=8", 35, side=20, cell=56),
    fitted("alone", "gaussian:snr=6..1000,size=4..12,axis-ratio=0.8", 36, side=20, cell=64),
    *(fitted(f"pair-{name}", f"point:snr={snr},pair-ratio={ratio},separation={separation}", 37, side=20, cell=52)
      for name, snr, ratio, separation in (("uneven", 30, 0.3, 4), ("even", 30, 1, 4), ("faint", 10, 1, 4.8))),
    fitted("forced", "point:snr=0.5..10", 38, side=40, cell=30),
    Scene("fit-power-law", "--size 3072 --noise 0.0133 --beam 4 --noise-kind beam --seed 39 --sources-per-mpx 120"),
    *(optical(f"crowd-{density}", f"star:count={round(density * 1024**2 / 1e6)},snr=5..200", 15, evaluate="--min-snr 20")
      for density in (500, 1500, 4000)),
    optical("single-stars", "star:count=400,snr=100..3000,place=grid", 21),
    optical("single-gaussians", "gaussian:count=225,snr=20..300,size=6..30,axis-ratio=0.5,place=grid", 22),
    optical("single-disks", "disk:count=225,snr=20..300,size=6..40,place=grid", 23),
]}

"""Who takes part in the demo's day, and what they have to do."""

from __future__ import annotations

from typing import NamedTuple

# Names that no installation has given to people of its own.
RUNNER, INTAKE = "service:demo-runner", "service:demo-intake"


class Team(NamedTuple):
    """One organization: its owner, who works there, who only looks, and its errands."""

    slug: str
    name: str
    owner: str
    members: tuple[str, ...]
    viewer: str
    errands: tuple[str, ...]

    @property
    def roles(self) -> dict[str, str]:
        """Every membership but the owner's own."""
        writing = dict.fromkeys((*self.members, RUNNER, INTAKE), "member")
        return {**writing, self.viewer: "viewer"}


TEAMS = (
    Team(
        slug="demo-observatory",
        name="Sternwarte Hohenfels",
        owner="demo:amina",
        members=("demo:bjarne", "demo:chiara"),
        viewer="demo:dilip",
        errands=(
            "Mirror cleaning before the autumn run", "Kuppelmotor ruckelt bei 14° Azimut",
            "Guest night: 40 seats, red light only 🔭", "Book the spectrograph for Tuesday",
            "Kalibrierung der CCD-Kamera nach dem Filterwechsel", "Nube alta: rifare la serie M31",
            "Replace the UPS batteries in the control room", "Schulklasse aus Ulm, 9 Uhr",
            "Archive the 1998 plates", "Comet ephemeris is off by a day", "Neue Notfallnummern",
            "Rapporto mensile sulle notti utili", "Dark frames for the whole week",
            "Leck im Dach über dem Archiv", "Weather station sends no wind",
            "Öffnungszeiten zu Weihnachten", "Ordina due filtri H-alfa", "Time server drifts",
            "Visitor statistics for the town", "Fernglas-Verleih: Kaution einführen",
        ),
    ),
    Team(
        slug="demo-bakery",
        name="פארן و خبز · Corner Bakery",
        owner="demo:elias",
        members=("demo:farida",),
        viewer="demo:gal",
        errands=(
            "טחינה גולמית: שני דליים עד יום חמישי", "تنظيف الفرن الكبير يوم الأحد",
            "Wedding cake for 80, no nuts 🎂", "הזמנת חלות לשבת", "سعر الطحين الجديد",
            "Card terminal beeps and prints nothing", "Allergen list for the new pastries",
            "משלוח לא הגיע לסניף הנמל", "صورة القائمة على الواجهة باهتة", "Yeast: second supplier",
            "Mixer belt: order a spare", "לוח משמרות לחודש הבא", "طلب ٣٠٠ كعكة للعيد",
            "Gas inspection on the 3rd", "Oven 2 is 15° too cold", "קופסאות קרטון קטנות",
            "توصيل صباحي للمستشفى", "Loyalty cards: 500 more", "Pest control certificate",
            "Return of the broken display fridge",
        ),
    ),
    Team(
        slug="demo-studio",
        name="夜更かしスタジオ",
        owner="demo:hana",
        members=("demo:ivan",),
        viewer="demo:jun",
        errands=(
            "第3話のアフレコ日程を決める 🎙️", "Свести звук к трейлеру", "자막 오타 7곳 수정",
            "背景美術:雨の商店街、夜版", "Перерисовать кадр 214", "엔딩 크레딧 순서 확인",
            "配信用に4Kで書き出し", "Договор композитора", "예고편 썸네일 세 가지 안",
            "色指定ミス:主人公の袖", "Резервная копия сервера рендеринга", "더빙 배우 섭외",
            "版權音樂清單給電視台", "ลูกค้าขอเวอร์ชัน 15 วินาที", "पोस्टर का हिंदी संस्करण",
            "レンダーファームの空き容量", "Пресс-кит на английском", "콘티 5화 피드백 정리",
            "声優さんの控室を予約", "Festival submission: DCP by Friday",
        ),
    ),
)  # fmt: skip
PEOPLE = tuple(name for team in TEAMS for name in (team.owner, *team.members, team.viewer))
PRINCIPALS = (*PEOPLE, RUNNER, INTAKE)
QUESTIONS = ("Which of the two dates?", "Is the larger size fine as well?", "Quem paga o frete?")
ANSWERS = ("Yes, please go on.", "Так, друге.", "はい、それでお願いします。", "نعم، شكرًا.")
